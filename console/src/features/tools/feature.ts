import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const kinds = ['http', 'javascript', 'mcp'] as const
export const toolsSearch = { search: 'text', type: kinds } as const
export const newToolSearch = { type: kinds, server: 'text', tool: 'text' } as const
export const toolSearch = { tab: ['test', 'definition'] } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'tools',
      search: toolsSearch,
      title: { en: 'Tools', de: 'Werkzeuge' },
      needs: 'read',
      load: () => import('./tools.tsx'),
      rail: { group: 'act', order: 0, icon: 'tool', key: 't' },
    }),
    defineView({
      path: 'tools/new',
      search: newToolSearch,
      title: { en: 'Add a tool', de: 'Werkzeug anlegen' },
      needs: 'change',
      load: () => import('./new-tool.tsx'),
    }),
    {
      path: 'tools/import',
      title: { en: 'Import from OpenAPI', de: 'Aus OpenAPI importieren' },
      needs: 'change',
      load: () => import('./import.tsx'),
    },
    defineView({
      path: 'tools/cluster/$cluster',
      title: { en: 'Cluster of tools', de: 'Werkzeuggruppe' },
      needs: 'read',
      load: () => import('./cluster.tsx'),
    }),
    defineView({
      path: 'tools/$toolId',
      search: toolSearch,
      title: { en: 'Tool', de: 'Werkzeug' },
      needs: 'read',
      load: () => import('./tool.tsx'),
    }),
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
