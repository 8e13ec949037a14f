import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'browser',
      title: { en: 'Browsers', de: 'Browser' },
      needs: 'read',
      load: () => import('./sessions.tsx'),
      rail: { group: 'act', order: 4, icon: 'browser', key: 'b' },
    },
    {
      path: 'browser/$sessionId',
      title: { en: 'Browser session', de: 'Browsersitzung' },
      needs: 'read',
      load: () => import('./session.tsx'),
    },
  ],
}
export default feature
