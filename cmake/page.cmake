# The page of viewer/ as a C file, TENDRIL_PAGE_SOURCE. Its packages are installed when CMake runs,
# as the lock file says, and bundled when the command is built. Without node, npm or the packages
# the page is left out, and 'tendril view' says so.
set(VIEWER ${PROJECT_SOURCE_DIR}/viewer)
set(TENDRIL_PAGE_SOURCE ${CMAKE_BINARY_DIR}/viewer/page.c)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/viewer)
find_program(NODE NAMES node nodejs)
find_program(NPM NAMES npm)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${VIEWER}/package-lock.json)

set(PAGE_MISSING "")
if(NOT TENDRIL_PAGE)
  set(PAGE_MISSING "TENDRIL_PAGE is off")
elseif(NOT NODE OR NOT NPM)
  set(PAGE_MISSING "node and npm were not found")
elseif(NOT EXISTS ${VIEWER}/node_modules/.package-lock.json OR
       ${VIEWER}/package-lock.json IS_NEWER_THAN ${VIEWER}/node_modules/.package-lock.json)
  message(STATUS "Installing the packages of the page")
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund
                  WORKING_DIRECTORY ${VIEWER} RESULT_VARIABLE failed
                  OUTPUT_QUIET ERROR_VARIABLE said)
  if(failed)
    set(PAGE_MISSING "'npm ci' failed in viewer/")
    message(STATUS "${said}")
  endif()
endif()

# What stands in for it; a test builds a command with it in any case.
set(TENDRIL_NO_PAGE_SOURCE ${CMAKE_BINARY_DIR}/viewer/no_page.c)
file(CONFIGURE OUTPUT ${TENDRIL_NO_PAGE_SOURCE} CONTENT [[
#include "app/page.h"
const unsigned char PAGE_TEMPLATE[] = {0};
const size_t PAGE_TEMPLATE_SIZE = 0;
]])
if(PAGE_MISSING)
  message(STATUS "The page is left out: ${PAGE_MISSING}")
  set(TENDRIL_PAGE_SOURCE ${TENDRIL_NO_PAGE_SOURCE})
else()
  file(GLOB PAGE_PARTS CONFIGURE_DEPENDS ${VIEWER}/src/*)
  add_custom_command(OUTPUT ${TENDRIL_PAGE_SOURCE}
    COMMAND ${NODE} ${VIEWER}/build.mjs ${CMAKE_BINARY_DIR}/viewer/page.html ${TENDRIL_PAGE_SOURCE}
    DEPENDS ${PAGE_PARTS} ${VIEWER}/build.mjs ${VIEWER}/package-lock.json
    COMMENT "Bundling the page" VERBATIM)
endif()
