import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const usageSearch = { group: ['day', 'model', 'person', 'key'] } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'usage',
      search: usageSearch,
      title: { en: 'Usage', de: 'Verbrauch' },
      needs: 'change',
      load: () => import('./usage.tsx'),
      rail: { group: 'setUp', order: 6, icon: 'chart' },
    }),
  ],
}
export default feature
