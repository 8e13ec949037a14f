import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const auditSearch = {
  actor_kind: 'text',
  actor_id: 'text',
  operation: 'text',
  object: 'text',
  outcome: 'text',
} as const

const feature: Feature = {
  views: [
    defineView({
      path: 'audit',
      search: auditSearch,
      title: { en: 'Audit log', de: 'Protokoll' },
      needs: 'change',
      load: () => import('./audit.tsx'),
      rail: { group: 'setUp', order: 5, icon: 'clock' },
    }),
  ],
}
export default feature
