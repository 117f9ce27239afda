"""A tenant is (namespace, user_id): the unit of order, of isolation and of erasure."""

from __future__ import annotations

from functools import lru_cache
from typing import Self
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict

from schemas.base import Name


@lru_cache(maxsize=4096)
def _key(namespace: str, user_id: str) -> str:
    return f"{quote(namespace, safe='')}/{quote(user_id, safe='')}"


@lru_cache(maxsize=4096)
def tenant_of(namespace: str, user_id: str) -> Tenant:
    """The tenant of a record, whose names were checked when it was read."""
    return Tenant(namespace=namespace, user_id=user_id)


class Tenant(BaseModel):
    """Both parts are required. The key of every tenant topic is `Tenant.key`.

    >>> Tenant(namespace="shop", user_id="张三/1").key
    'shop/%E5%BC%A0%E4%B8%89%2F1'
    """

    model_config = ConfigDict(frozen=True)

    namespace: Name
    user_id: Name

    @property
    def key(self) -> str:
        """Percent-encoded `namespace/user_id`: unambiguous whatever the names contain."""
        return _key(self.namespace, self.user_id)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Raises `ValueError` unless `key` has exactly two parts."""
        namespace, _, user_id = key.partition("/")
        return cls(namespace=unquote(namespace, errors="strict"), user_id=unquote(user_id, errors="strict"))
