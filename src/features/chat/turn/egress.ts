import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { Egress, Tool } from '#models/tools/tool.ts'
import type { TurnInput } from './turn-input.ts'
import type { TurnState } from './turn-state.ts'
import { isWord, isWritten } from './written-address.ts'

/** The state of a turn in which a call is judged. */
export interface Shown {
  /** All texts that the model has read and written, in order. */
  messages: readonly PromptMessage[]
  tools: readonly Tool[]
  /** The setting `browse_hosts`. */
  hosts: readonly string[]
  /** True if the turn has read data of the agent, beside the sources whose text has tainted it. */
  hasOwnData: boolean
}

/** The reason why a call waits for approval, as a sentence, and the recipient of its data. */
export interface HeldCall {
  why: string
  sends_to: string
}

/** Max characters of the sent data that are shown. */
const maxShown = 1000

/** True if the model had read text of outsiders when it made the calls of the iteration. */
const hasRead = ({ isTainted }: TurnInput, { readAt = Number.POSITIVE_INFINITY, iteration }: TurnState) =>
  isTainted || readAt < iteration

/** Records the origin of a call's result. The sources of the first search taint the turn. */
export function noteOrigin(input: TurnInput, state: TurnState, { origin }: Tool, result: unknown): void {
  const sources = typeof origin === 'function' ? origin(result) : undefined
  if (origin === 'computed' || sources?.length === 0) return
  const isFirst = state.readAt === undefined && !hasRead(input, state)
  // Errors of databases and workflows hold their data, too.
  const hasResult = result !== undefined || origin === 'own'
  if (sources && isFirst) state.sources.push(...sources)
  else if (hasResult && origin && !sources?.every(id => state.sources.includes(id))) state.hasOwnData = true
  state.readAt ??= state.iteration
}

/** Judges a call by the data that it sends. Skipped for tools that send nothing, and before the model has read anything. */
export async function judgeEgress(
  input: TurnInput,
  state: TurnState,
  tool: Tool,
  given: Record<string, unknown>,
): Promise<HeldCall | undefined> {
  const egress = hasRead(input, state) ? await tool.egress?.(given) : undefined
  if (egress === undefined) return undefined
  const { messages, tools, browseHosts: hosts = [] } = input
  const { added, hasOwnData = false } = state
  return heldBack(egress, given, { messages: [...messages, ...added], tools, hosts, hasOwnData })
}

/** Returns why a call of a turn that has read text of outsiders needs approval; undefined if it needs none. */
export function heldBack(
  { to, carries, pieces = [] }: Egress,
  input: Record<string, unknown>,
  shown: Shown,
): HeldCall | undefined {
  const sends_to = to.slice(0, maxShown)
  if (isListed(to, shown.hosts)) return undefined
  const isFree = (text: string) => isListed(text, shown.hosts) || isKnown(text, shown)
  const composed = [...pieces, ...addressesIn(input)].find(text => !isFree(text))
  if (composed !== undefined) {
    const sent = composed === to ? '' : `“${composed.slice(0, maxShown)}” to `
    return { why: `It would send ${sent}${sends_to}: no text that the model was given says so.`, sends_to }
  }
  if (carries === 'text') return { why: `It would send text of the model to ${sends_to}.`, sends_to }
  if (carries === 'nothing' || !shown.hasOwnData) return undefined
  return { why: `It would send arguments to ${sends_to}, and the turn has read data of the agent.`, sends_to }
}

/** True if the text is the address of a host in the list. */
function isListed(text: string, hosts: readonly string[]): boolean {
  const address = hosts.length === 0 ? undefined : addressOf(text)
  return address !== undefined && hosts.some(host => isHost(address, host))
}

/** An entry without a port stands for all ports; the port of a scheme need not be written in an address. */
function isHost({ protocol, hostname, port }: URL, listed: string): boolean {
  const wantedPort = /:(\d+)$/.exec(listed)?.[1]
  const wanted = URL.parse(`http://${listed.replace(/^\*\./, '')}`)?.hostname ?? ''
  const usedPort = port || (protocol === 'https:' ? '443' : '80')
  if (wantedPort !== undefined && Number(wantedPort) !== Number(usedPort)) return false
  return listed.startsWith('*.') ? hostname.endsWith(`.${wanted}`) : hostname === wanted
}

/** Returns all addresses that are a value of the input. */
function addressesIn(input: unknown): string[] {
  if (typeof input === 'string') return addressOf(input) ? [input] : []
  return typeof input === 'object' && input !== null ? Object.values(input).flatMap(addressesIn) : []
}

function addressOf(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

/** True if a text that the model has read contains it. Results that might only repeat the model's own text do not count. */
function isKnown(text: string, { messages, tools }: Shown): boolean {
  const address = addressOf(text)
  const isIn = (read: string) => (address ? isWritten(address, read) : isWord(text, read))
  let isComposed = false
  for (const message of messages) {
    if (message.role === 'assistant') isComposed ||= argumentsIn(message, tools).some(isIn)
    else if (message.role !== 'tool') {
      if (textsIn(message).some(isIn)) return true
    } else if (!isComposed && resultsIn(message, tools).some(isIn)) return true
  }
  return false
}

const textsIn = ({ content }: Extract<PromptMessage, { role: 'system' | 'user' }>) =>
  typeof content === 'string' ? [content] : content.flatMap(part => ('text' in part ? part.text : []))

/** Returns arguments as text, without whole addresses of tools that send, which were judged themselves. */
const argumentsIn = ({ content }: Extract<PromptMessage, { role: 'assistant' }>, tools: readonly Tool[]) =>
  content.flatMap(part => {
    if (part.type !== 'tool-call') return []
    const isJudged = tools.some(({ name, egress }) => name === part.toolName && egress !== undefined)
    const unjudged = (_key: string, value: unknown) =>
      isJudged && typeof value === 'string' && addressOf(value) ? undefined : value
    return JSON.stringify(part.input, unjudged) ?? ''
  })

/** Returns the results that count. Errors repeat arguments, and some tools return them, or data that the model has chosen. */
const resultsIn = ({ content }: Extract<PromptMessage, { role: 'tool' }>, tools: readonly Tool[]) =>
  content.flatMap(part => {
    if (part.type !== 'tool-result' || part.output.type !== 'text') return []
    const tool = tools.find(({ name }) => name === part.toolName)
    return tool === undefined || typeof tool.origin === 'string' ? [] : part.output.value
  })
