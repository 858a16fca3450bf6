// The definition of the contracting search, on plain arrays of four.
#include "detect/ccd_contract.h"

bool ccd_contract_scalar(const TdlCcdQuery* query, const TdlCcdOptions* options,
                         TdlCcdResult* result) {
    return contract_query(query, options, result);
}
