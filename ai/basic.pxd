# Players in compiled code, asked while the GIL is free.
from libc.stdint cimport int32_t, uint64_t

from tavolata.ext.core.game cimport Game


cdef class NativePlayer:
    """Base of players that choose without the GIL; a player fills in ``choose`` and nothing else.

    view: the blanked state, state_bytes long; legal: the legal actions, ascending, ``count`` of them;
    seed: 64 bits of randomness for this decision. Returns one of the legal actions. May be called
    from any thread and must not keep anything for the next call.
    """
    cdef int choose(self, Game game, const void* view, int seat,
                    const int32_t* legal, int count, uint64_t seed) noexcept nogil
