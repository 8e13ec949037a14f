import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const sessionsSearch = { open: 'number' } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'browser',
      search: sessionsSearch,
      title: { en: 'Browsers', de: 'Browser' },
      needs: 'read',
      load: () => import('./sessions.tsx'),
      rail: { group: 'act', order: 4, icon: 'browser', key: 'b' },
    }),
    defineView({
      path: 'browser/$sessionId',
      title: { en: 'Browser session', de: 'Browsersitzung' },
      needs: 'read',
      load: () => import('./session.tsx'),
    }),
  ],
}
export default feature
