"""Every first-party post-processor keeps the contract that plugin authors are given."""

from kenobot.ports.postprocessor import PostProcessor
from kenobot.postprocessors.tags import (
    bootstrap_complete,
    chat_context,
    chat_memory,
    memory,
    user_update,
    working_memory,
)
from kenobot_testing.postprocessor import PostProcessorContract
from tests.unit.postprocessors.test_tags import built


class TestMemory(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(memory)


class TestChatMemory(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(chat_memory)


class TestWorkingMemory(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(working_memory)


class TestUserUpdate(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(user_update)


class TestChatContext(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(chat_context)


class TestBootstrapComplete(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return built(bootstrap_complete)
