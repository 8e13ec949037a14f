import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const sourcesSearch = {
  show: ['all', 'file', 'crawl', 'database', 'api', 'failed'],
  find: 'text',
  add: ['crawl', 'database', 'api'],
} as const
export const questionSearch = { q: 'text', limit: 'number', score: 'number', source: 'text' } as const
export const sourceSearch = {
  /** The page of a website whose passages are shown. */
  url: 'text',
  /** The start of the shown part of the text. */
  from: 'number',
  /** The start of the passage that is opened in the document. */
  at: 'number',
} as const

const feature: Feature = {
  views: [
    defineView({
      path: 'knowledge',
      search: sourcesSearch,
      title: { en: 'Knowledge', de: 'Wissen' },
      needs: 'read',
      load: () => import('./sources.tsx'),
      rail: { group: 'know', order: 0, icon: 'book', key: 'k' },
    }),
    defineView({
      path: 'knowledge/test',
      search: questionSearch,
      title: { en: 'Try a question', de: 'Frage testen' },
      needs: 'read',
      load: () => import('./question-tester.tsx'),
    }),
    defineView({
      path: 'knowledge/$sourceId',
      search: sourceSearch,
      title: { en: 'Source', de: 'Quelle' },
      needs: 'read',
      load: () => import('./source.tsx'),
    }),
  ],
  commands: [
    {
      id: 'crawl-website',
      title: { en: 'Crawl a website', de: 'Website einlesen' },
      icon: 'globe',
      needs: 'change',
      to: 'knowledge?add=crawl',
    },
    {
      id: 'try-question',
      title: { en: 'Try a question on the documents', de: 'Frage an die Dokumente testen' },
      icon: 'search',
      needs: 'read',
      to: 'knowledge/test',
    },
  ],
  parts: { document: () => import('./document.tsx') },
}
export default feature
