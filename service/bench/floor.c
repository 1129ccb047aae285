/* What plain C does of the same work: the reference of the playout benchmarks.
 *
 * Random playouts of a four-player trick game with 52 cards: deal, thirteen tricks, each seat any legal card with equal
 * chance (follow suit if it can), the highest card of the led suit takes the trick and leads the next, penalty points for
 * thirteen hearts and a queen. Prints "playouts seconds checksum".
 *
 *     cc -O3 [-march=x86-64-v3] floor.c -o floor && ./floor PLAYOUTS SEED
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { SEATS = 4, TRICKS = 13, CARDS = 52 };

#define SUIT_CARDS 0x1fffULL /* a suit's thirteen cards; suits are 16 bits apart */
#define HEARTS (SUIT_CARDS << 32)
#define QUEEN (1ULL << (48 + 10))

static uint64_t counter;

static inline uint64_t random_word(void)
{
    counter += 0xa0761d6478bd642fULL;
    unsigned __int128 product = (unsigned __int128)counter * (counter ^ 0xe7037ed1a0b428dbULL);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline unsigned random_below(unsigned n)
{
    return (unsigned)(((unsigned __int128)random_word() * n) >> 64);
}

static inline uint64_t random_card(uint64_t cards)
{
    unsigned k = random_below((unsigned)__builtin_popcountll(cards));
#ifdef __BMI2__
    return _pdep_u64(1ULL << k, cards);
#else
    while (k--)
        cards &= cards - 1;
    return cards & -cards;
#endif
}

static void deal(uint64_t hands[SEATS])
{
    uint8_t deck[CARDS];
    for (int i = 0; i < CARDS; i++)
        deck[i] = (uint8_t)(16 * (i / TRICKS) + i % TRICKS);
    for (int last = CARDS - 1; last >= TRICKS; last--) { /* the thirteen left over are the first hand */
        unsigned drawn = random_below((unsigned)last + 1);
        uint8_t card = deck[drawn];
        deck[drawn] = deck[last];
        deck[last] = card;
    }
    for (int seat = 0; seat < SEATS; seat++) {
        uint64_t hand = 0;
        for (int i = 0; i < TRICKS; i++)
            hand |= 1ULL << deck[TRICKS * seat + i];
        hands[seat] = hand;
    }
}

static int playout(int points[SEATS])
{
    uint64_t hands[SEATS];
    int leader = 0;
    deal(hands);
    for (int trick = 0; trick < TRICKS; trick++) {
        uint64_t best = random_card(hands[leader]);
        uint64_t on_table = best;
        uint64_t led = SUIT_CARDS << (__builtin_ctzll(best) & 0x30);
        int winner = leader;
        hands[leader] ^= best;
        for (int place = 1; place < SEATS; place++) {
            int seat = (leader + place) % SEATS;
            uint64_t following = hands[seat] & led;
            uint64_t card = random_card(following ? following : hands[seat]);
            hands[seat] ^= card;
            on_table |= card;
            if ((card & led) > best) {
                best = card;
                winner = seat;
            }
        }
        points[winner] += __builtin_popcountll(on_table & HEARTS) + (on_table & QUEEN ? 13 : 0);
        leader = winner;
    }
    return leader;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: floor PLAYOUTS SEED\n");
        return 2;
    }
    long playouts = atol(argv[1]);
    counter = strtoull(argv[2], NULL, 10);
    struct timespec begin, end;
    long checksum = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < playouts; i++) {
        int points[SEATS] = {0};
        checksum += playout(points);
        if (points[0] + points[1] + points[2] + points[3] != 26)
            return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%ld %.9f %ld\n", playouts,
           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec), checksum);
    return 0;
}
