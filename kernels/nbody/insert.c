#include "nbody/inside.h"
lacis_nbody_status nbody_insert(lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    return nbody_sort(system, pair, spare, n);
}
