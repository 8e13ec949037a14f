import type { BrowserService } from '#features/browser/browser.service.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

/** The browser sessions of executions, one each. Those that another process opened end when they have been idle. */
export function createBrowserSessions(browser: Pick<BrowserService, 'act' | 'release'>) {
  const opened = new Set<string>()
  const holderOf = (executionId: string) => `execution:${executionId}`
  return {
    /** Runs the action; gives the address and the title of the page after it. */
    async act(
      agent: AgentHandle,
      executionId: string,
      action: Parameters<BrowserService['act']>[2],
      signal: AbortSignal,
    ): Promise<{ url: unknown; title: unknown }> {
      opened.add(executionId)
      const { url, title } = await browser.act(agent, holderOf(executionId), action, { signal })
      return { url, title }
    },

    /** To be called when an execution has ended, with or without such nodes. */
    async release(agent: AgentHandle, executionId: string): Promise<void> {
      if (opened.delete(executionId)) await browser.release(agent, holderOf(executionId))
    },
  }
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>
