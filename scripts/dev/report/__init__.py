"""The regression report: one self-contained page, build/report/index.html.

Reads build/results/*.json (one per bench run, written by tb/common), build/report/junit.xml
(written by pytest) and the plots in build/pendulum and build/report. Anything may be missing.

    make report                               from the results at hand
    pytest -p scripts.dev.report.plugin ...       at the end of a test run, before pytest's closing
    line
"""
