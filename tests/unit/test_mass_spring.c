// The mass-spring chain: derivatives, momenta.
#include "rod/mass_spring.h"

#include "ref/nodal_checks.h"

TEST(derivatives_are_exact) {
    check_derivatives("mass-spring");
    check_jacobian("mass-spring");
}

TEST(a_free_chain_keeps_its_momenta) {
    check_free_flights("mass-spring", NULL);
}
