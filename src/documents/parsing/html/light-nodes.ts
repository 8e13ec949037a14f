import { Node } from 'linkedom'

/**
 * linkedom prepares each node, and that is each text and attribute, too, for listeners to events, with an entry in a map of
 * weak references that its constructor makes: a quarter of the time that it takes to read a page goes there, most of it when
 * memory is collected. Nobody listens to pages here, so their nodes are constructed without it.
 */
export function lightenNodes(): void {
  // What linkedom exports stands in front of the class itself.
  const nodeClass = Object.getPrototypeOf(Node)
  Object.setPrototypeOf(nodeClass, class {})
}
