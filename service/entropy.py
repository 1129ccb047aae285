"""Randomness from the operating system."""

from __future__ import annotations

import os
import secrets


class SystemEntropy:
    """Entropy of the kernel's generator."""

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        return os.urandom(count)

    def name(self) -> str:
        """A new id: 128 random bits."""
        return secrets.token_urlsafe(16)

    def fraction(self) -> float:
        """A number in [0, 1)."""
        return int.from_bytes(os.urandom(7), "big") / (1 << 56)
