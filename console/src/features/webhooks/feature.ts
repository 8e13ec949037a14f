import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'webhooks',
      title: { en: 'Webhooks', de: 'Webhooks' },
      needs: 'read',
      load: () => import('./webhooks.tsx'),
      rail: { group: 'setUp', order: 4, icon: 'hook' },
    },
    {
      path: 'webhooks/$webhookId',
      title: { en: 'Webhook', de: 'Webhook' },
      needs: 'read',
      load: () => import('./webhook.tsx'),
    },
  ],
}
export default feature
