import type { Tool } from '#models/tools/tool.ts'
import type { EventHandler as Notified } from '#platform/event-bus.ts'
import type { App } from '#platform/http/app.ts'
import type { EventHandler, SharedEventHandler } from '#platform/jobs/events.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

/** The turn of a conversation that tools are offered to. */
export interface ToolTurn {
  conversationId: string
  /** Its caller may chat and no more. */
  isOutsider: boolean
  /** Has the page listed on the answer. */
  onPageRead(page: { url: string; title: string }): void
  /** Tells the caller, and nobody else, that a person is waited for. */
  onTakeover(takeover: RequestedTakeover): void
}

/** What a person is asked to do in a browser session; the link is null for callers who may not drive. */
export interface RequestedTakeover {
  session_id: string
  reason: string
  expires_at: string
  takeover_url: string | null
}

/** What a feature brings to the service; what it does not need is absent. */
export interface Feature {
  /** Registers its routes, and hooks for these and for the routes of all later features. */
  routes?(app: App): void
  /** Handlers of its durable jobs, by the job's name. */
  jobs?: Readonly<Record<string, JobHandler<AgentHandle>>>
  /** The names of the events that it emits, which subscribers may choose from. */
  events?: readonly string[]
  /** Handlers of the events that its subscribers have subscribed to, by the kind of subscriber. */
  eventHandlers?: Readonly<Record<string, EventHandler<AgentHandle> | SharedEventHandler<AgentHandle>>>
  /** Handlers of what the process notifies at once, without storing it. Check them with `satisfies Subscriptions<…>`. */
  subscriptions?: Readonly<Record<string, Notified<never>>>
  /**
   * The tools that it offers to models of this agent; names in `taken` are those of earlier features. Without a `turn`, nobody
   * talks with the agent.
   */
  tools?(
    agent: AgentHandle,
    taken: ReadonlySet<string>,
    turn?: ToolTurn,
  ): readonly Tool[] | Promise<readonly Tool[]>
  /** Begins its background work once jobs can run; resolves when that work has caught up. */
  start?(): Promise<void>
  /** Lets what it is answering end within `graceMs`, and aborts the rest. Called while connections are closed. */
  drain?(graceMs: number): Promise<void>
  /** Ends its background work; called after all answers have ended. */
  stop?(): Promise<void>
}

/** Handlers of the events in `Events`, which maps each name to its payload. */
export type Subscriptions<Events> = { [Name in keyof Events]?: Notified<Events[Name]> }
