import type { TObject } from 'typebox'
import type { Tool } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import type { EventHandler as Notified } from '#platform/event-bus.ts'
import type { App } from '#platform/http/app.ts'
import type { EventHandler, SharedEventHandler } from '#platform/jobs/events.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

/** The parts that a feature adds to the service; unneeded ones are absent. */
export interface Feature {
  /** Registers its routes, and hooks for these and for the routes of all later features. */
  routes?(app: App): void
  /** Handlers of its durable jobs, by the job's name. */
  jobs?: Readonly<Record<string, JobHandler<AgentHandle>>>
  /** The payloads of the feature's events, by their names, which subscribers can choose from. */
  events?: Readonly<Record<string, TObject>>
  /** Handlers for events that subscribers have subscribed to, by the kind of subscriber. */
  eventHandlers?: Readonly<Record<string, EventHandler<AgentHandle> | SharedEventHandler<AgentHandle>>>
  /** Handlers of in-process notifications, which are not stored. Check them with `satisfies Subscriptions<…>`. */
  subscriptions?: Readonly<Record<string, Notified<never>>>
  /**
   * Returns the feature's tools for models of this agent; names in `taken` are those of earlier features. Without a `turn`, no
   * person talks with the agent.
   */
  tools?(
    agent: AgentHandle,
    taken: ReadonlySet<string>,
    turn?: ToolTurn,
  ): readonly Tool[] | Promise<readonly Tool[]>
  /** Begins the feature's background work once jobs can run; resolves when that work has caught up. */
  start?(): Promise<void>
  /** Lets running answers end within `graceMs`, and aborts the rest. Called while connections are closed. */
  drain?(graceMs: number): Promise<void>
  /** Ends the feature's background work; called after all answers have ended. */
  stop?(): Promise<void>
}

/** Handlers of the events in `Events`, which maps each name to its payload. */
export type Subscriptions<Events> = { [Name in keyof Events]?: Notified<Events[Name]> }
