import { AppError } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

type BrowserAction =
  | { action: 'navigate'; url: string }
  | { action: 'wait'; selector: string }
  | { action: 'click'; selector: string }

interface Page {
  url: string
  title: string
}

/** The part of the browser feature that nodes use. */
export interface Browser {
  /** Runs one action in the session that `holder` keeps, which the first call opens. */
  act(
    agent: AgentHandle,
    holder: string,
    action: BrowserAction,
    options: { signal: AbortSignal },
  ): Promise<Page>
  /** Ends the session of `holder`, if there is one. */
  release(agent: AgentHandle, holder: string): Promise<void>
}

/** The browser sessions of executions, one each. Those that another process opened end when they have been idle. */
export function createBrowserSessions(browser: Browser | undefined) {
  const opened = new Set<string>()
  const holderOf = (executionId: string) => `execution:${executionId}`
  return {
    async act(
      agent: AgentHandle,
      executionId: string,
      action: BrowserAction,
      signal: AbortSignal,
    ): Promise<Page> {
      if (browser === undefined) throw noBrowser()
      opened.add(executionId)
      return await browser.act(agent, holderOf(executionId), action, { signal })
    },

    /** To be called when an execution has ended, whatever its nodes were. */
    async release(agent: AgentHandle, executionId: string): Promise<void> {
      if (opened.delete(executionId)) await browser?.release(agent, holderOf(executionId))
    },
  }
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>

function noBrowser(): AppError {
  return new AppError('TOOL_FAILED', 'This service has no browser, which the node needs.', {
    isPermanent: true,
  })
}
