import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'audit',
      title: { en: 'Audit log', de: 'Protokoll' },
      needs: 'change',
      load: () => import('./audit.tsx'),
      rail: { group: 'setUp', order: 5, icon: 'clock' },
    },
  ],
}
export default feature
