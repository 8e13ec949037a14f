import { createAccess } from '#features/access/access.feature.ts'
import { createAgents } from '#features/agents/agents.feature.ts'
import { createAudit } from '#features/audit/audit.feature.ts'
import { createBrowser } from '#features/browser/browser.feature.ts'
import { createCalendar } from '#features/calendar/calendar.feature.ts'
import { createChannels } from '#features/channels/channels.feature.ts'
import { createChat } from '#features/chat/chat.feature.ts'
import { type BuiltInsOf, collectTools, type ToolsOf } from '#features/collect-tools.ts'
import { createContacts } from '#features/contacts/contacts.feature.ts'
import type { Feature } from '#features/feature.ts'
import { createKnowledge } from '#features/knowledge/knowledge.feature.ts'
import { createMcp } from '#features/mcp/mcp.feature.ts'
import { createMcpEndpoint } from '#features/mcp-endpoint/mcp-endpoint.feature.ts'
import { createNotices, type NoticesFeature } from '#features/notices/notices.feature.ts'
import { createOpenai } from '#features/openai/openai.feature.ts'
import { createOverview } from '#features/overview/overview.feature.ts'
import { createPayments } from '#features/payments/payments.feature.ts'
import { createSchedules } from '#features/schedules/schedules.feature.ts'
import { createSignIn } from '#features/sign-in/sign-in.feature.ts'
import { createSources } from '#features/sources/sources.feature.ts'
import { createSql } from '#features/sql/sql.feature.ts'
import { createTools } from '#features/tools/tools.feature.ts'
import { createUsage } from '#features/usage/usage.feature.ts'
import { createWebhooks } from '#features/webhooks/webhooks.feature.ts'
import { createWorkflows, type WorkflowsFeature } from '#features/workflows/workflows.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { DeclaredRoute } from '#platform/http/access.ts'

/** Creates all features, each behind those that it uses, and names the parts that each is handed. */
export async function createFeatures(infrastructure: Infrastructure, routes: readonly DeclaredRoute[]) {
  const all: Feature[] = []
  const add: Add = feature => {
    all.push(feature)
    return feature
  }
  const later = {
    notices: createLater<NoticesFeature>('notices'),
    workflows: createLater<WorkflowsFeature>('workflows'),
  }
  const base = await createBase(infrastructure, add, later)
  // Later features offer tools, too. Models see those for the sources first.
  const { toolsOf, builtInsOf } = collectTools({
    features: () => new Set<Feature>([data.knowledge, data.sources, ...all]),
    record: base.audit.recordTool,
    rulesOf: async agentId => (await base.agents.settings.profileOf(agentId)).settings.builtin_tools,
  })
  const endpoints = () => endpointsOf(routes)
  const data = createData(infrastructure, add, { ...base, later, endpoints, builtInsOf })
  const eventNames = () => all.flatMap(({ events = {} }) => Object.keys(events))
  const talks = await createTalks(infrastructure, add, { ...base, ...data, toolsOf, eventNames })
  createWork(infrastructure, add, { ...base, ...data, ...talks, later, eventNames })
  return { agents: base.agents, signIn: talks.signIn, all }
}

type Add = <Added extends Feature>(feature: Added) => Added

/** A feature that is made after those that use it. */
function createLater<Made extends Feature>(name: string) {
  let made: Made | undefined
  return {
    set(feature: Made): Made {
      made = feature
      return feature
    },
    get(): Made {
      if (made === undefined) throw new Error(`The feature "${name}" is used before it is made.`)
      return made
    },
  }
}

interface Later {
  notices: ReturnType<typeof createLater<NoticesFeature>>
  workflows: ReturnType<typeof createLater<WorkflowsFeature>>
}

/** Callers, agents, and the record of changes. */
async function createBase(infrastructure: Infrastructure, add: Add, { notices }: Later) {
  const access = add(createAccess(infrastructure))
  const audit = add(createAudit(infrastructure))
  const agents = add(
    await createAgents(infrastructure, {
      access: access.access,
      people: access.people,
      disabled: access.disabled,
      callerSignal: access.callerSignal,
      stillPermitted: access.stillPermitted,
      requireReachable: (...given): Promise<void> => notices.get().requireReachable(...given),
    }),
  )
  return { access, audit, agents }
}

type Base = Awaited<ReturnType<typeof createBase>>

/** The data of agents, and the tools that act. */
function createData(
  infrastructure: Infrastructure,
  add: Add,
  {
    access,
    agents,
    later,
    endpoints,
    builtInsOf,
  }: Base & { later: Later; endpoints(): ReadonlySet<string>; builtInsOf: BuiltInsOf },
) {
  const { settings } = agents
  const sql = add(createSql(infrastructure, { settings }))
  const browser = add(createBrowser(infrastructure, { settings, connections: access.connections }))
  const contacts = add(createContacts(infrastructure, { settings }))
  const knowledge = add(createKnowledge(infrastructure, { settings }))
  const sources = add(
    createSources(infrastructure, {
      indexing: knowledge.indexing,
      changes: knowledge.changes,
      embeddingOf: knowledge.embeddingOf,
      sql: sql.sql,
      renderPage: browser.renderPage,
    }),
  )
  const mcp = add(createMcp(infrastructure))
  add(createTools(infrastructure, { mcp: mcp.mcp, builtInsOf }))
  const soldRuns = () => later.workflows.get().soldRuns
  const payments = add(
    createPayments(infrastructure, {
      settings,
      access: access.access,
      sellBy: access.sellBy,
      endpoints,
      workflows: {
        isActive: (...given) => soldRuns().isActive(...given),
        run: (...given) => soldRuns().run(...given),
      },
    }),
  )
  const usage = add(createUsage(infrastructure, { access: access.access }))
  return { browser, contacts, knowledge, sources, payments, usage }
}

type Data = ReturnType<typeof createData>

/** Chats, and the ways to them. */
async function createTalks(
  infrastructure: Infrastructure,
  add: Add,
  parts: Base & Data & { toolsOf: ToolsOf; eventNames(): string[] },
) {
  const { access, agents, browser, contacts, knowledge, payments, toolsOf } = parts
  const { settings, callerSignal } = agents
  const { attached } = knowledge
  const chat = add(
    createChat(infrastructure, {
      settings,
      callerSignal,
      stillPermitted: agents.stillPermitted,
      isBrowserOpen: browser.isBrowserOpen,
      knowledge: knowledge.knowledge,
      attached,
      usage: parts.usage.usage,
      toolsOf,
    }),
  )
  const { questions, answering, planner, running, files } = chat
  add(
    createMcpEndpoint(infrastructure, {
      agents: agents.agents,
      callerSignal,
      questions,
      answering,
      files,
      askerInMcpSession: chat.askerInMcpSession,
      shorten: chat.shorten,
      soldTo: payments.soldTo,
      searchTool: knowledge.searchTool,
      toolsOf,
    }),
  )
  add(
    createOpenai(infrastructure, {
      access: access.access,
      openAgent: access.openAgent,
      agents: agents.agents,
      callerSignal,
      planner,
      running,
      files,
      attached,
      soldTo: payments.soldTo,
    }),
  )
  add(createWebhooks(infrastructure, parts.eventNames))
  const { answerOnce, abandon, editMessage } = chat
  const channels = add(
    createChannels(infrastructure, {
      settings,
      contacts: contacts.contacts,
      answerOnce,
      abandon,
      editMessage,
      files,
    }),
  )
  const signIn = add(
    await createSignIn(infrastructure, {
      access: access.access,
      people: access.people,
      signInBy: access.signInBy,
      personSignsIn: access.personSignsIn,
      channels: channels.channels,
    }),
  )
  return { chat, channels, signIn }
}

/** Work that agents do by themselves, and the reports of it. */
function createWork(
  infrastructure: Infrastructure,
  add: Add,
  parts: Base & Data & Awaited<ReturnType<typeof createTalks>> & { later: Later; eventNames(): string[] },
): void {
  const { access, audit, browser, contacts, chat, channels, later, eventNames } = parts
  const { agents, settings, callerSignal } = parts.agents
  const { answerOnce, abandon } = chat
  const { workflows, lifecycle, executions } = later.workflows.set(
    add(
      createWorkflows(infrastructure, {
        agents,
        answerOnce,
        answerAlone: chat.answerAlone,
        abandon,
        abandonAll: chat.abandonAll,
        channels: channels.channels,
        browser: browser.browser,
        eventNames,
      }),
    ),
  )
  add(createSchedules(infrastructure, { agents, answerOnce, abandon, lifecycle, workflows }))
  add(createCalendar(infrastructure, { agents, lifecycle, workflows }))
  later.notices.set(
    add(
      createNotices(infrastructure, {
        access: access.access,
        settings,
        recordWork: audit.recordWork,
        channels: channels.channels,
        approvals: chat.approvals,
        contacts: contacts.contacts,
        executions,
      }),
    ),
  )
  add(createOverview(infrastructure, { callerSignal, maySee: chat.maySee }))
}

/** Returns the parts of routes' paths after `/api/agents/{id}/`, up to the next slash. */
function endpointsOf(routes: readonly DeclaredRoute[]): ReadonlySet<string> {
  return new Set(routes.map(({ url }) => /^\/api\/agents\/:id\/([^/]+)/.exec(url)?.[1] ?? ''))
}
