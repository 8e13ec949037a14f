import { type Static, type TObject, Type } from 'typebox'
import { type Egress, fromSchema, type Tool } from '#models/tools/tool.ts'
import { CallWaits, type PersonWait, type ToolTurn } from '#models/tools/tool-turn.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ActionInput, ActionResult } from '../actions/actions.schema.ts'
import type { ActionsService } from '../actions/actions.service.ts'
import { hiddenValue } from '../secrets/mask.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { KeptSessions } from '../sessions/kept-sessions.ts'
import { whileProlonged } from '../takeovers/prolonged.ts'
import type { Takeovers } from '../takeovers/takeovers.service.ts'
import { createAskPerson } from './ask-person.ts'
import { describeResult } from './describe-result.ts'

interface Dependencies {
  browser: Pick<KeptSessions, 'keep' | 'find'>
  takeovers: Pick<Takeovers, 'request' | 'withdraw'>
  actions: Pick<ActionsService, 'act' | 'actorOf' | 'changes'>
  settingsOf(agentId: string): Promise<{ browser_tools?: boolean; browser_profile?: string }>
}

interface Kind<Schema extends TObject = TObject> {
  description: string
  schema: Schema
  action(given: Static<Schema>): ActionInput
}

/** The wider type is safe, because arguments are checked before they reach the tool. */
const kind = <Schema extends TObject>(declared: Kind<Schema>) => declared as unknown as Kind

const ref = Type.String({
  pattern: '^\\w{1,20}$',
  description: 'The ref of an element, as browser_read shows it.',
})
const dialog = Type.Optional(
  Type.Enum(['accept'], {
    description:
      'Accepts what the page asks meanwhile, such as whether to delete something or to leave the page.',
  }),
)
const byRef = (given: { ref: string }) => ({ selector: `ref=${given.ref}` })

const kinds = {
  browser_navigate: kind({
    description:
      'Opens an address in a browser, and returns the beginning of the page. For pages that need scripts or clicks.',
    schema: Type.Object({ url: Type.String({ minLength: 1, description: 'An http or https address.' }) }),
    action: ({ url }) => ({ action: 'navigate', url }),
  }),
  browser_read: kind({
    description:
      'Returns what the open page says and offers, nearest to the window first, with refs of elements to act on. `find` looks for words, `ref` reads one part.',
    schema: Type.Object({
      find: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      ref: Type.Optional(ref),
    }),
    action: given => ({ action: 'outline', ...given }),
  }),
  browser_click: kind({
    description: 'Clicks an element of the open page, and returns what has changed.',
    schema: Type.Object({ ref, dialog }),
    action: ({ ref: clicked, ...given }) => ({ action: 'click', ...byRef({ ref: clicked }), ...given }),
  }),
  browser_type: kind({
    description: 'Replaces the text in a field of the open page, and returns what has changed.',
    schema: Type.Object({
      ref,
      text: Type.String({ maxLength: 100_000, description: 'Of a date 2026-12-31, of a time 17:30.' }),
      submit: Type.Optional(Type.Boolean({ description: 'Presses Enter afterwards, to search or send.' })),
      by_key: Type.Optional(Type.Boolean({ description: 'Types key by key, for lists of suggestions.' })),
    }),
    action: ({ ref: field, ...given }) => ({ action: 'type', ...byRef({ ref: field }), ...given }),
  }),
  browser_press: kind({
    description:
      'Presses a key, or several together, in the focused element of the open page, and returns what has changed.',
    schema: Type.Object({
      key: Type.String({
        ...{ minLength: 1, maxLength: 100 },
        description: 'Such as Enter, Tab, Escape, ArrowDown, a or Control+A.',
      }),
      dialog,
    }),
    action: given => ({ action: 'press', ...given }),
  }),
  browser_select: kind({
    description:
      'Chooses options of a field of the open page, by value or label, and returns what has changed.',
    schema: Type.Object({ ref, values: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) }),
    action: given => ({ action: 'select', ...byRef(given), values: given.values }),
  }),
  browser_scroll: kind({
    description:
      'Turns the mouse wheel over the middle of the open page, or over an element, and returns what has come near.',
    schema: Type.Object({
      ref: Type.Optional(ref),
      direction: Type.Enum(['up', 'down', 'left', 'right']),
      // Pages read the distance: a few values can carry little text of the model to them.
      amount: Type.Optional(
        Type.Enum([500, 1000, 2000, 5000, 10_000, 1_000_000], {
          description: 'Distance in CSS pixels; 1000000 for the end. Default: most of the window.',
        }),
      ),
    }),
    action: ({ ref: over, ...given }) => ({ action: 'scroll', ...(over && byRef({ ref: over })), ...given }),
  }),
  browser_back: kind({
    description: 'Goes back to the page before in the same tab, and returns what has changed.',
    schema: Type.Object({}),
    action: () => ({ action: 'back' }),
  }),
  browser_tabs: kind({
    description:
      'Lists the open tabs with their numbers. `choose` makes one the open page, `close` closes one.',
    schema: Type.Object({
      choose: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      close: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    action: given => ({ action: 'tabs', ...given }),
  }),
  browser_screenshot: kind({
    description: 'Keeps a picture of the open page for people; you cannot see it yourself.',
    schema: Type.Object({ full_page: Type.Optional(Type.Boolean()) }),
    action: given => ({ action: 'screenshot', ...given }),
  }),
} satisfies Record<string, Kind>

/** Keys that enter no text of the model. */
const movingKey = /^(?:Shift\+)?(?:Enter|Tab|Escape|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right))$/

const fillsForm = (name: string, { key }: Record<string, unknown>) =>
  ['browser_type', 'browser_select'].includes(name) ||
  (name === 'browser_press' && !movingKey.test(String(key)))

/** Max characters of an action's changes. */
const changeCharacters = 4000

/**
 * Creates the tools for the browser of a conversation, which the first call opens. A conversation with a person who may only
 * chat has a browser of its own, without the agent's logins.
 */
export function createBrowserTools({ browser, actions, takeovers, settingsOf }: Dependencies) {
  return async (agent: AgentHandle, turn: ToolTurn | undefined): Promise<Tool[]> => {
    const settings = turn && (await settingsOf(agent.agentId))
    if (turn?.conversationId === undefined || settings?.browser_tools !== true) return []
    const holder = `conversation:${turn.conversationId}${turn.isOutsider ? ':guest' : ''}`
    const profile = turn.isOutsider ? undefined : settings.browser_profile
    async function run(input: ActionInput, signal: AbortSignal): Promise<string> {
      const session = await browser.keep(agent, holder, profile)
      const { id, takeover } = session
      if (takeover === undefined || turn?.waitSeconds === undefined) return await perform(input, signal)
      const result: PersonWait['result'] = (waiting, prolonged) =>
        whileProlonged(session, prolonged, () => perform(input, waiting))
      throw new CallWaits({ session_id: id, reason: takeover.reason, result })
    }

    async function perform(input: ActionInput, signal: AbortSignal): Promise<string> {
      const session = await browser.keep(agent, holder, profile)
      const result = await actions.act(session, input, signal)
      turn?.report({ type: 'page_read', url: String(result.url), title: String(result.title) })
      const actor = await actions.actorOf(session)
      if (input.action === 'screenshot') return await keepPicture(result, session.id)
      const text = result.outline ?? (await actions.changes(session, changeCharacters, signal))
      return describeResult(result, { text: String(text), isWhole: input.action === 'outline' })

      async function keepPicture({ image, ...others }: ActionResult, sessionId: string) {
        const { id } = await actor.downloads.keep(
          'screenshot.png',
          Buffer.from(String(image).split(',')[1] ?? '', 'base64'),
        )
        const path = `/api/agents/${agent.agentId}/browser/${sessionId}/downloads/${id}`
        return describeResult(
          { ...others, picture: `kept for people at ${path}` },
          { text: '', isWhole: false },
        )
      }
    }

    const askPerson = createAskPerson({
      takeovers,
      keep: () => browser.keep(agent, holder, profile),
      read: signal => perform({ action: 'outline' }, signal),
    })
    const acting: Tool[] = Object.entries(kinds).map(([name, { description, schema, action }]) => ({
      name,
      description,
      ...{ isBuiltIn: true, observesChange: true },
      ...fromSchema(schema),
      egress: given => egressOf(name, given),
      execute: (given, signal) => run(action(given), signal),
      ...(name === 'browser_type' && { shown: given => withoutSecret(given) }),
    }))
    return [...acting, askPerson(agent, turn)]

    /** Clicks follow text that the page has written. */
    async function egressOf(name: string, given: Record<string, unknown>): Promise<Egress | undefined> {
      if (name === 'browser_navigate') return { to: String(given.url), carries: 'nothing' }
      if (!fillsForm(name, given)) return undefined
      const session = await browser.find(agent, holder)
      const actor = session && (await actions.actorOf(session))
      const field = name === 'browser_press' ? undefined : String(given.ref)
      const place = await actor?.addressOf(field).catch(() => undefined)
      return { to: place ?? 'a page of the browser', carries: 'text' }
    }

    async function withoutSecret(given: Record<string, unknown>) {
      const isSecret = async (session: BrowserSession) =>
        await (await actions.actorOf(session)).isSecret(String(given.ref))
      const isHarmless = await browser
        .find(agent, holder)
        ?.then(isSecret)
        .then(
          secret => !secret,
          () => false,
        )
      return isHarmless ? given : { ...given, text: hiddenValue }
    }
  }
}
