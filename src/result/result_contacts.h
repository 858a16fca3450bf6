// The contacts of all frames in /contacts, one row a TdlResultContact. /frames/contact_end tells
// where the rows of a frame end.
#ifndef TDL_RESULT_RESULT_CONTACTS_H
#define TDL_RESULT_RESULT_CONTACTS_H

#include "result/result_rows.h"

extern const RowTable RESULT_CONTACTS;

#endif
