"""Arithmetic in small finite fields, for balanced designs."""

from __future__ import annotations

from itertools import product


def prime_power(number: int) -> tuple[int, int] | None:
    """(p, k) with number = p^k for a prime p, or None."""
    if number < 2:
        return None
    prime = next(divisor for divisor in range(2, number + 1) if number % divisor == 0)
    power = 0
    while number % prime == 0:
        number //= prime
        power += 1
    return (prime, power) if number == 1 else None


class FiniteField:
    """The field of ``size`` elements, a prime power; elements are 0 (zero), 1 (one), ... size - 1.

    An element is the number whose digits to the base p are the coefficients of a polynomial,
    lowest first; products are taken modulo the first irreducible monic polynomial.
    """

    def __init__(self, size: int) -> None:
        found = prime_power(size)
        if found is None:
            raise ValueError(f"there is no field of {size} elements; allowed: prime powers")
        self.size = size
        self._prime, self._degree = found
        self._modulus = self._irreducible()
        self._inverse = {
            a: b for a in range(1, size) for b in range(1, size) if self.multiply(a, b) == 1
        }

    def add(self, a: int, b: int) -> int:
        """The sum of two elements."""
        pairs = zip(self._digits(a), self._digits(b), strict=True)
        return self._number([(x + y) % self._prime for x, y in pairs])

    def multiply(self, a: int, b: int) -> int:
        """The product of two elements."""
        return self._number(self._product(self._digits(a), self._digits(b), self._modulus))

    def divide(self, a: int, b: int) -> int:
        """The quotient; ``b`` is not zero."""
        return self.multiply(a, self._inverse[b])

    def _digits(self, element: int) -> list[int]:
        return [element // self._prime**place % self._prime for place in range(self._degree)]

    def _number(self, digits: list[int]) -> int:
        return sum(digit * self._prime**place for place, digit in enumerate(digits))

    def _product(self, a: list[int], b: list[int], modulus: tuple[int, ...]) -> list[int]:
        """Product of two polynomials below the degree, modulo x^degree + modulus."""
        product_ = [0] * (2 * self._degree - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product_[i + j] += x * y
        for place in range(len(product_) - 1, self._degree - 1, -1):
            factor = product_[place]
            for step, coefficient in enumerate(modulus):
                product_[place - self._degree + step] -= factor * coefficient
        return [digit % self._prime for digit in product_[: self._degree]]

    def _irreducible(self) -> tuple[int, ...]:
        """The lower coefficients of a monic polynomial without factors: one modulo which no
        product of elements other than zero is zero."""
        elements = [self._digits(element) for element in range(1, self.size)]
        for modulus in product(range(self._prime), repeat=self._degree):
            if all(
                any(self._product(a, b, modulus))
                for i, a in enumerate(elements)
                for b in elements[i:]
            ):
                return modulus
        raise AssertionError("there is an irreducible polynomial of every degree")
