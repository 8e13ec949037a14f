import type { Feature } from '#console/shell/feature.ts'

const load = () => import('./workflow.tsx')
const title = { en: 'Workflow', de: 'Ablauf' }

const feature: Feature = {
  views: [
    {
      path: 'workflows',
      title: { en: 'Workflows', de: 'Abläufe' },
      needs: 'read',
      load: () => import('./workflows.tsx'),
      rail: { group: 'act', order: 1, icon: 'flow', key: 'w' },
    },
    { path: 'workflows/$workflowId', title, needs: 'read', load },
    { path: 'workflows/$workflowId/runs/$executionId', title, needs: 'read', load },
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
