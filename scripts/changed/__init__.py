"""`make test CHANGED=1`: only the tests whose inputs have changed since they passed.

A test's inputs are files. Of a simulation: the RTL files that its top level is built from, and the
Python of bench and model. Of a test of the model: the model, robots, scenarios, the C driver, and
what a marker `reads` adds. Of any other test: the whole repository; with a marker
`rtl_of`, of the RTL only what those top levels are built from.
"""
