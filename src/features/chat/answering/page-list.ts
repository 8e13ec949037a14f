import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { ReadPage } from '../chat.schema.ts'

const mostPages = 100

/** The web pages that the tools of one turn have read, each once. */
export function createPageList(clock: Clock) {
  const pages = new Map<string, ReadPage>()
  return {
    add({ url, title }: { url: string; title: string }): void {
      const isPage = /^https?:/.test(url) && !pages.has(url) && pages.size < mostPages
      if (isPage) pages.set(url, { url, title, time: timestamp(clock) })
    },
    all: (): ReadPage[] => [...pages.values()],
  }
}
