import type { SettingsEvents } from '#features/agents/settings.events.ts'
import type { ChatEvents } from '#features/chat/chat.events.ts'
import type { SourceEvents } from '#features/sources/sources.events.ts'

/** All events on the event bus, each declared by the feature that emits it. */
export type ServiceEvents = ChatEvents & SettingsEvents & SourceEvents
