// The contracting search with one register for four lanes; same bits as the definition.
#if defined(__x86_64__)
#define CCD_AVX2
#include "detect/ccd_contract.h"

bool ccd_contract_avx2(const TdlCcdQuery* query, const TdlCcdOptions* options,
                       TdlCcdResult* result) {
    return contract_query(query, options, result);
}
#else
typedef int ccd_contract_avx2_unused;
#endif
