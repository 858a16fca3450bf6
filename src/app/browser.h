// Opening a page in the user's browser.
#ifndef TDL_APP_BROWSER_H
#define TDL_APP_BROWSER_H

#include <stdbool.h>

// Hands a file or an address to xdg-open, which goes on by itself. Says on stderr why it could not.
bool browser_open(const char* target);

#endif
