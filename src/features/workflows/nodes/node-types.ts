import type { ChannelsService } from '#features/channels/channels.service.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { Sandbox } from '#sandbox/javascript/sandbox.ts'
import type { NodeType } from '../engine/node-type.ts'
import type { NodeTypeName } from '../workflows.schema.ts'
import type { BrowserSessions } from './browser.ts'
import { type ChatParts, createChat } from './chat.ts'
import { createClick } from './click.ts'
import { createCode } from './code.ts'
import { createEmail } from './email.ts'
import { createHttpRequest } from './http-request.ts'
import { ifElse } from './if-else.ts'
import { loop } from './loop.ts'
import { createNavigate } from './navigate.ts'
import { switchNode } from './switch.ts'
import { createTelegram } from './telegram.ts'
import { trigger } from './trigger.ts'
import { wait } from './wait.ts'
import { createWhatsapp } from './whatsapp.ts'

export type NodeTypes = ReadonlyMap<string, NodeType>

/** The services that nodes use outside of their execution. */
export interface NodePeers extends ChatParts {
  outbound: Outbound
  sandbox: Sandbox
  channels: ChannelsService
  sessions: BrowserSessions
}

export function createNodeTypes({ outbound, sandbox, channels, sessions, ...chat }: NodePeers): NodeTypes {
  const types = {
    trigger,
    'if-else': ifElse,
    switch: switchNode,
    loop,
    wait,
    'http-request': createHttpRequest(outbound),
    email: createEmail(channels),
    navigate: createNavigate(sessions),
    click: createClick(sessions),
    chat: createChat(chat),
    code: createCode(sandbox),
    telegram: createTelegram(channels),
    whatsapp: createWhatsapp(channels),
  } satisfies Record<NodeTypeName, NodeType>
  return new Map(Object.entries(types))
}
