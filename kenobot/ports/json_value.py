"""The type of what JSON can hold."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
