/**
 * The words of notices. Text of models and outsiders is put on one line, quoted and shortened, so that it can't pass for
 * ours, and its addresses are no links.
 */
import type { BrowserEvents } from '#features/browser/browser.events.ts'
import type { ChatEvents } from '#features/chat/chat.events.ts'
import { withoutLinks } from './without-links.ts'

export type Requested = ChatEvents['approval.requested']
export type TakeoverRequested = BrowserEvents['browser.takeover_requested']

/** Lengths in characters. WhatsApp allows 1,024 in all. */
const lengths = { name: 60, reason: 250, content: 260 }

export interface Background {
  agentName: string
  /** Name of the workflow that waits. */
  workflow?: string | undefined
  /** The text of others that the model has read last, with its source. */
  read?: string | undefined
  /** The message that is being answered. */
  question?: string | undefined
}

export function approvalText(event: Requested, { agentName, workflow, read, question }: Background): string {
  const origin: [string, string | undefined][] =
    read === undefined ? [['For the message', question]] : [['The model has read', read]]
  return textOf(`${inShort(agentName, lengths.name)} waits for your decision.`, event.expires_at, [
    ['Tool', event.tool && inShort(event.tool, lengths.name)],
    ['With', event.arguments && inShort(JSON.stringify(event.arguments), lengths.content)],
    ['Workflow', workflow && inShort(workflow, lengths.name)],
    [event.tool === undefined ? 'Question' : 'Why', inShort(event.approval, lengths.reason)],
    ...origin.map(([title, text]) => [title, text && `"${inShort(text, lengths.content)}"`] as const),
  ])
}

/** Returns true if the text has all arguments of the call: no person can approve a part. */
export function isWhole({ arguments: given = {} }: Requested): boolean {
  return withoutLinks(JSON.stringify(given)).length <= lengths.content
}

export function takeoverText(event: TakeoverRequested, { agentName }: Background): string {
  return textOf(`${inShort(agentName, lengths.name)} needs a person in its browser.`, event.expires_at, [
    ['Why', inShort(event.reason, lengths.reason)],
  ])
}

function textOf(title: string, until: string, facts: (readonly [string, string | undefined])[]): string {
  const lines = facts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  return [title, '', ...lines, `Until: ${minute(until)}`].join('\n')
}

/** Formats an ISO 8601 time in UTC, to the minute. */
export function minute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

/** Shortens a text and removes links, line breaks, control characters and those that change the direction of writing. */
function inShort(text: string, length: number): string {
  const plain = text.slice(0, 4 * length).replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
  const line = withoutLinks(plain.trim().toWellFormed())
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line
}
