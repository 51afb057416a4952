# What stands on make's command line is data: it is taken as it stands, nothing in it is expanded,
# neither by make nor on its way into the environment of commands. GIVEN: the names.
GIVEN := $(foreach name,$(filter-out MAKE% -%,$(.VARIABLES)),$(if \
  $(filter command,$(origin $(name))),$(name)))
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name)))$(eval export $(name)))
