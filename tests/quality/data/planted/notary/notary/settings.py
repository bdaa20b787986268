from pydantic import Field
from pydantic_settings import BaseSettings


class Settings(BaseSettings):
    """Read from the environment, with the prefix NOTARY_.

    ``session_hours`` is how long a session lasts.
    """

    model_config = {"env_prefix": "NOTARY_"}

    session_hours: int = 8
    issuer: str = "notary"
    page_size: int = Field(default=100, description="rows of a page, 50 by default")
    workers: int = 4
