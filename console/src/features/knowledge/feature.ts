import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'knowledge',
      title: { en: 'Knowledge', de: 'Wissen' },
      needs: 'read',
      load: () => import('./sources.tsx'),
      rail: { group: 'know', order: 0, icon: 'book', key: 'k' },
    },
    {
      path: 'knowledge/test',
      title: { en: 'Try a question', de: 'Frage testen' },
      needs: 'read',
      load: () => import('./question-tester.tsx'),
    },
    {
      path: 'knowledge/$sourceId',
      title: { en: 'Source', de: 'Quelle' },
      needs: 'read',
      load: () => import('./source.tsx'),
    },
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
