#include "tendril/tendril.h"

#include <stdio.h>

int main(void) {
    printf("tendril %s\n", tdl_version());
    return 0;
}
