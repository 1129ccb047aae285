"""Deals unseen items to hidden places, every physical deal that fits being equally likely.

Items that share a constraint form a *class* (for a trick game: the suits that the same seats may
still hold); *places* (hands, bag, pile, left-over) that may hold the same classes form a *group*.
``ways[g][left]`` is the number of ways to fill groups g, g+1, ... from what is left of each class,
all items told apart. Group by group the dealer draws how many items of each class go there, in
proportion to the ways to complete the deal, then which ones, then splits the group among its places.
Nothing is ever rejected, and identical items need no care: they are told apart.

With few joint outcomes (three hidden hands have at most some hundreds) an alias table over whole
count matrices (Walker 1977) makes the counts one draw.
"""
from libc.math cimport NAN, isnan
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tavolata.ext.core.chance cimport Chance, random_below, random_shuffle, random_unit

cdef enum:
    JOINT_MAX = 4096    # most rows of the alias table
    TABLE_MAX = 1 << 23 # most entries of the count table


class NoDeal(ValueError):
    """No deal fits the constraints: what was recorded as seen contradicts itself."""


cdef class ExactDealer:
    def __init__(self, classes, sizes, allowed):
        """Prepare to deal.

        classes: per class the item numbers (0..255) in it, repeated for identical items;
        sizes: items each place holds; allowed: per place the set of class indices it may hold.
        Raises NoDeal if nothing fits, ValueError for sizes below 0 and shapes beyond the limits of
        dealer.pxd.
        """
        self.item_count = sum(len(items) for items in classes)
        if self.item_count != sum(sizes):
            raise NoDeal(f"{self.item_count} unseen items for places that hold {sum(sizes)}")
        if any(size < 0 for size in sizes):
            raise ValueError(f"sizes are {sizes}; allowed: 0 and more")
        if self.item_count > ITEMS_MAX or len(sizes) > PLACES_MAX:
            raise ValueError(f"at most {ITEMS_MAX} items and {PLACES_MAX} places")
        merged = self._merge_classes(classes, sizes, allowed)
        self._merge_places(sizes, merged)
        self._fill_binomials()
        self._make_table()

    def __dealloc__(self):
        free(self.ways)
        free(self.joint)
        free(self.joint_threshold)
        free(self.joint_alias)

    def _merge_classes(self, classes, sizes, allowed):
        """Join classes that the same places may hold; returns per place its set of merged classes."""
        cdef int at = 0
        members = {}
        for number, items in enumerate(classes):
            if items:
                holders = frozenset(place for place in range(len(sizes)) if sizes[place] and number in allowed[place])
                members.setdefault(holders, []).extend(items)
        if len(members) > CLASSES_MAX:
            raise ValueError(f"at most {CLASSES_MAX} classes")
        self.class_count = len(members)
        for number, items in enumerate(members.values()):
            self.class_size[number] = len(items)
            for item in items:
                self.items[at] = item
                at += 1
        return [
            sum(1 << number for number, holders in enumerate(members) if place in holders)
            for place in range(len(sizes))
        ]

    def _merge_places(self, sizes, merged):
        """Group places with equal sets, the most constrained first: it keeps the table small."""
        cdef int at = 0
        groups = {}
        for place, mask in enumerate(merged):
            if sizes[place]:
                groups.setdefault(mask, []).append(place)
        starts = [sum(sizes[:place]) for place in range(len(sizes))]
        order = sorted(groups, key=lambda mask: (mask.bit_count(), mask))
        self.group_count = len(order)
        for number, mask in enumerate(order):
            self.group_allowed[number] = mask
            self.group_places[number] = len(groups[mask])
            self.group_size[number] = sum(sizes[place] for place in groups[mask])
            for place in groups[mask]:
                self.place_at[at] = starts[place]
                self.place_size[at] = sizes[place]
                at += 1

    def _fill_binomials(self):
        cdef int n, k
        for n in range(self.item_count + 1):
            self.binomial[n][0] = 1.0
            for k in range(1, n + 1):
                self.binomial[n][k] = self.binomial[n - 1][k - 1] + (self.binomial[n - 1][k] if k < n else 0.0)

    def _make_table(self):
        cdef int left[CLASSES_MAX]
        cdef int c
        cdef size_t i
        cdef double total
        self.table_size = 1
        for c in range(self.class_count):
            self.stride[c] = self.table_size
            self.table_size *= self.class_size[c] + 1
            left[c] = self.class_size[c]
        if self.class_count <= 1 or self.group_count <= 1:
            if self.item_count and not (self.group_allowed[0] and self._everywhere()):
                raise NoDeal("no place may hold some unseen item")
            return
        if self.table_size * self.group_count > TABLE_MAX:
            raise ValueError("too many classes and places for a count table")
        self.ways = <double*> malloc(self.table_size * self.group_count * sizeof(double))
        if self.ways == NULL:
            raise MemoryError
        for i in range(self.table_size * self.group_count):
            self.ways[i] = NAN
        with nogil:
            total = self.count(0, left)
        if total == 0.0:
            raise NoDeal("no deal of the unseen items fits what was seen")
        self._make_alias()

    def _everywhere(self):
        return all(self.group_allowed[g] == (1 << self.class_count) - 1 for g in range(self.group_count))

    cdef double count(self, int group, int* left) noexcept nogil:
        """Ways to fill this group and all after it from what is left of each class."""
        cdef size_t key = 0
        cdef int c
        cdef double ways
        for c in range(self.class_count):
            key += left[c] * self.stride[c]
        key += group * self.table_size
        ways = self.ways[key]
        if isnan(ways):
            ways = self.count_split(group, left, 0, self.group_size[group], 1.0)
            self.ways[key] = ways
        return ways

    cdef double count_split(self, int group, int* left, int first, int need, double factor) noexcept nogil:
        """Sum over the ways to take ``need`` items from classes first, first+1, ... into the group."""
        cdef double total = 0.0
        cdef int take, most, had
        if need == 0:
            if group + 1 < self.group_count:
                return factor * self.count(group + 1, left)
            for take in range(self.class_count):
                if left[take]:
                    return 0.0
            return factor
        if first == self.class_count:
            return 0.0
        had = left[first]
        most = min(had, need) if self.group_allowed[group] >> first & 1 else 0
        if group + 1 == self.group_count and most < had:
            return 0.0
        for take in range(had if group + 1 == self.group_count else 0, most + 1):
            left[first] = had - take
            total += self.count_split(group, left, first + 1, need - take, factor * self.binomial[had][take])
        left[first] = had
        return total

    cdef void split(self, int group, int* left, int* taken, uint64_t* state) noexcept nogil:
        """Draw how many items of each class the group takes, in proportion to the completions."""
        cdef double target = random_unit(state) * self.count(group, left)
        cdef int need = self.group_size[group]
        cdef int c, take, most, had
        cdef double factor = 1.0, ways
        for c in range(self.class_count):
            had = left[c]
            most = min(had, need) if self.group_allowed[group] >> c & 1 else 0
            taken[c] = -1
            for take in range(most + 1):
                left[c] = had - take
                ways = self.count_split(group, left, c + 1, need - take, factor * self.binomial[had][take])
                if ways > 0.0:
                    taken[c] = take        # rounding may leave a crumb of target: the last possible one stands
                    if target < ways:
                        break
                    target -= ways
            left[c] = had - taken[c]
            factor *= self.binomial[had][taken[c]]
            need -= taken[c]

    def _make_alias(self):
        """The alias table over joint counts, unless they are too many."""
        cdef int left[CLASSES_MAX]
        cdef uint8_t row[PLACES_MAX * CLASSES_MAX]
        cdef double* shares = <double*> malloc(JOINT_MAX * sizeof(double))
        cdef int c
        cdef bint listed = False
        self.joint = <uint8_t*> malloc(JOINT_MAX * self.group_count * self.class_count)
        if self.joint == NULL or shares == NULL:
            free(shares)
            raise MemoryError
        for c in range(self.class_count):
            left[c] = self.class_size[c]
        with nogil:
            listed = self.list_joint(0, left, 0, self.group_size[0], 1.0, row, shares)
        try:
            if listed:
                self._fill_alias(shares)
            else:
                self.joint_count = 0
        finally:
            free(shares)

    cdef bint list_joint(self, int group, int* left, int first, int need, double weight,
                         uint8_t* row, double* shares) noexcept nogil:
        """Append every joint count matrix with its ways; False once there are more than JOINT_MAX."""
        cdef int had, most, take
        if first == self.class_count:
            if need:
                return True
            if group + 1 < self.group_count:
                if self.count(group + 1, left) == 0.0:
                    return True
                return self.list_joint(group + 1, left, 0, self.group_size[group + 1], weight, row, shares)
            if self.joint_count == JOINT_MAX:
                return False
            memcpy(self.joint + self.joint_count * self.group_count * self.class_count, row,
                   self.group_count * self.class_count)
            shares[self.joint_count] = weight
            self.joint_count = self.joint_count + 1   # in place it would need the GIL in the checked build
            return True
        had = left[first]
        most = min(had, need) if self.group_allowed[group] >> first & 1 else 0
        if group + 1 == self.group_count and most < had:
            return True
        for take in range(had if group + 1 == self.group_count else 0, most + 1):
            left[first] = had - take
            row[group * self.class_count + first] = take
            if not self.list_joint(group, left, first + 1, need - take,
                                   weight * self.binomial[had][take], row, shares):
                left[first] = had
                return False
        left[first] = had
        return True

    cdef _fill_alias(self, double* shares):
        """Walker's table by Vose's method: each row lends what it has too much to one that has too little."""
        cdef int count = self.joint_count
        cdef int row, low, high, small_count = 0, large_count = 0
        cdef double total = 0.0
        cdef int32_t* small = <int32_t*> malloc(count * sizeof(int32_t))
        cdef int32_t* large = <int32_t*> malloc(count * sizeof(int32_t))
        self.joint_threshold = <double*> malloc(count * sizeof(double))
        self.joint_alias = <int32_t*> malloc(count * sizeof(int32_t))
        if small == NULL or large == NULL or self.joint_threshold == NULL or self.joint_alias == NULL:
            self.joint_count = 0
            free(small)
            free(large)
            raise MemoryError
        for row in range(count):
            total += shares[row]
        for row in range(count):
            shares[row] = shares[row] / total * count
            self.joint_threshold[row] = 1.0
            self.joint_alias[row] = row
            if shares[row] < 1.0:
                small[small_count] = row
                small_count += 1
            else:
                large[large_count] = row
                large_count += 1
        while small_count and large_count:
            small_count -= 1
            low, high = small[small_count], large[large_count - 1]
            self.joint_threshold[low] = shares[low]
            self.joint_alias[low] = high
            shares[high] -= 1.0 - shares[low]
            if shares[high] < 1.0:
                small[small_count] = high
                small_count += 1
                large_count -= 1
        free(small)
        free(large)

    cdef void sample(self, uint8_t* out, Chance* chance) noexcept nogil:
        """Write the items place by place, in the order of the places, into ``out``."""
        cdef uint64_t state = chance.state
        cdef uint8_t mixed[ITEMS_MAX]
        cdef uint8_t hand[ITEMS_MAX]
        cdef int left[CLASSES_MAX]
        cdef int taken[CLASSES_MAX]
        cdef int start[CLASSES_MAX]
        cdef int c, g, p, at, size, place = 0, row = -1
        cdef uint8_t* counts
        memcpy(mixed, self.items, self.item_count)
        at = 0
        for c in range(self.class_count):
            start[c] = at
            left[c] = self.class_size[c]
            random_shuffle(&state, mixed + at, left[c])
            at += left[c]
        if self.joint_count:
            row = <int> random_below(&state, self.joint_count)
            if random_unit(&state) >= self.joint_threshold[row]:
                row = self.joint_alias[row]
        for g in range(self.group_count):
            size = self.group_size[g]
            if self.class_count == 1:
                memcpy(hand, mixed + start[0], size)
                start[0] += size
            else:
                if row >= 0:
                    counts = self.joint + (row * self.group_count + g) * self.class_count
                    for c in range(self.class_count):
                        taken[c] = counts[c]
                elif self.group_count == 1:
                    for c in range(self.class_count):
                        taken[c] = left[c]
                else:
                    self.split(g, left, taken, &state)
                at = 0
                for c in range(self.class_count):
                    memcpy(hand + at, mixed + start[c], taken[c])
                    start[c] += taken[c]
                    at += taken[c]
                if self.group_places[g] > 1:
                    random_shuffle(&state, hand, size)
            at = 0
            for p in range(self.group_places[g]):
                memcpy(out + self.place_at[place], hand + at, self.place_size[place])
                at += self.place_size[place]
                place += 1
        chance.state = state

    def sample_places(self, seed: int, int worlds):
        """``worlds`` deals as lists of items, all places laid end to end; for tests and benchmarks."""
        cdef Chance chance
        cdef uint8_t out[ITEMS_MAX]
        cdef int i
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        chance.keyed = NULL
        deals = []
        for _ in range(worlds):
            self.sample(out, &chance)
            deals.append([out[i] for i in range(self.item_count)])
        return deals
