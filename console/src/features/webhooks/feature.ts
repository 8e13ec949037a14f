import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const webhookSearch = { status: ['pending', 'succeeded', 'failed'] } as const

const feature: Feature = {
  views: [
    {
      path: 'webhooks',
      title: { en: 'Webhooks', de: 'Webhooks' },
      needs: 'read',
      load: () => import('./webhooks.tsx'),
      rail: { group: 'setUp', order: 4, icon: 'hook' },
    },
    defineView({
      path: 'webhooks/$webhookId',
      search: webhookSearch,
      title: { en: 'Webhook', de: 'Webhook' },
      needs: 'read',
      load: () => import('./webhook.tsx'),
    }),
  ],
}
export default feature
