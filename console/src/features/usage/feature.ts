import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'usage',
      title: { en: 'Usage', de: 'Verbrauch' },
      needs: 'change',
      load: () => import('./usage.tsx'),
      rail: { group: 'setUp', order: 6, icon: 'chart' },
    },
  ],
}
export default feature
