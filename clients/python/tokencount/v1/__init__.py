"""The contract: every message and enum of `tokencount.v1`, generated from its proto files."""

from tokencount.v1.prompt_pb2 import *
from tokencount.v1.token_counter_service_pb2 import *
from tokencount.v1.usage_pb2 import *
