import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'tools',
      title: { en: 'Tools', de: 'Werkzeuge' },
      needs: 'read',
      load: () => import('./tools.tsx'),
      rail: { group: 'act', order: 0, icon: 'tool', key: 't' },
    },
    {
      path: 'tools/new',
      title: { en: 'Add a tool', de: 'Werkzeug anlegen' },
      needs: 'change',
      load: () => import('./new-tool.tsx'),
    },
    {
      path: 'tools/import',
      title: { en: 'Import from OpenAPI', de: 'Aus OpenAPI importieren' },
      needs: 'change',
      load: () => import('./import.tsx'),
    },
    {
      path: 'tools/cluster/$cluster',
      title: { en: 'Cluster of tools', de: 'Werkzeuggruppe' },
      needs: 'read',
      load: () => import('./cluster.tsx'),
    },
    {
      path: 'tools/$toolId',
      title: { en: 'Tool', de: 'Werkzeug' },
      needs: 'read',
      load: () => import('./tool.tsx'),
    },
  ],
  commands: [
    {
      id: 'add-tool',
      title: { en: 'Add a tool', de: 'Werkzeug anlegen' },
      icon: 'plus',
      needs: 'change',
      to: 'tools/new',
    },
    {
      id: 'import-tools',
      title: { en: 'Import tools from OpenAPI', de: 'Werkzeuge aus OpenAPI importieren' },
      icon: 'upload',
      needs: 'change',
      to: 'tools/import',
    },
  ],
}
export default feature
