import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const workflowsSearch = {
  show: ['runs'],
  status: ['running', 'waiting', 'queued', 'complete', 'errored', 'terminated'],
  create: 'number',
} as const
export const workflowSearch = { step: 'text', show: ['outline'], edit: 'number' } as const

const shared = {
  title: { en: 'Workflow', de: 'Ablauf' },
  needs: 'read',
  load: () => import('./workflow.tsx'),
  search: workflowSearch,
} as const

const feature: Feature = {
  views: [
    defineView({
      path: 'workflows',
      search: workflowsSearch,
      title: { en: 'Workflows', de: 'Abläufe' },
      needs: 'read',
      load: () => import('./workflows.tsx'),
      rail: { group: 'act', order: 1, icon: 'flow', key: 'w' },
    }),
    defineView({ path: 'workflows/$workflowId', ...shared }),
    defineView({ path: 'workflows/$workflowId/runs/$executionId', ...shared }),
  ],
  commands: [
    {
      id: 'create-workflow',
      title: { en: 'Create a workflow', de: 'Ablauf anlegen' },
      icon: 'plus',
      needs: 'change',
      to: 'workflows?create=1',
    },
  ],
}
export default feature
