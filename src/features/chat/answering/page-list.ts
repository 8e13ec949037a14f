import type { CitedPassage } from '#models/language-model/passages.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { ReadPage } from '../chat.schema.ts'

const mostPages = 100
const mostPassages = 100

/** Lists the web pages that the tools of one turn have read, each once. */
export function createPageList(clock: Clock, known: readonly ReadPage[] = []) {
  const pages = new Map(known.map(page => [page.url, page]))
  return {
    add({ url, title }: { url: string; title: string }): void {
      const isPage = /^https?:/.test(url) && !pages.has(url) && pages.size < mostPages
      if (isPage) pages.set(url, { url, title, time: timestamp(clock) })
    },
    all: (): ReadPage[] => [...pages.values()],
  }
}

/** Lists the passages that the model of one turn was shown, each once. */
export function createCitedList(known: readonly CitedPassage[] = []) {
  const cited = new Map(known.map(passage => [passage.id, passage]))
  return {
    add(passages: readonly CitedPassage[]): void {
      for (const passage of passages) if (cited.size < mostPassages) cited.set(passage.id, passage)
    },
    all: (): CitedPassage[] => [...cited.values()],
  }
}
