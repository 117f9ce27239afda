"""A tenant is (namespace, user_id): the unit of order, of isolation and of erasure."""

from __future__ import annotations

from typing import Self
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict

from schemas.base import Name


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
        return f"{quote(self.namespace, safe='')}/{quote(self.user_id, safe='')}"

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Raises `ValueError` unless `key` has exactly two parts."""
        namespace, _, user_id = key.partition("/")
        return cls(namespace=unquote(namespace, errors="strict"), user_id=unquote(user_id, errors="strict"))
