import type { BrowserService } from '#features/browser/browser.service.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

/** Browser sessions of executions, one each. Sessions that another process opened end when idle. */
export function createBrowserSessions(browser: Pick<BrowserService, 'act' | 'release'>) {
  const opened = new Set<string>()
  const holderOf = (executionId: string) => `execution:${executionId}`
  return {
    /** Runs the action; returns the address and the title of the page after it. */
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

    /** Must be called at the end of each execution, even one without browser nodes. */
    async release(agent: AgentHandle, executionId: string): Promise<void> {
      if (opened.delete(executionId)) await browser.release(agent, holderOf(executionId))
    },
  }
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>
