import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'channels',
      title: { en: 'Channels', de: 'Kanäle' },
      needs: 'read',
      load: () => import('./channels.tsx'),
      rail: { group: 'setUp', order: 2, icon: 'send' },
    },
  ],
}
export default feature
