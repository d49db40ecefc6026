import { useState } from "react";
import { Dialog } from "../components/dialog.tsx";
import { useMedia } from "../state/use-media.ts";
import { FacetColumn, type FacetColumnProps } from "./facet-column.tsx";

export interface FacetsOpen {
  /** There is no room for them beside the list. */
  readonly isDrawer: boolean;
  readonly isOpen: boolean;
  readonly open: (isOpen: boolean) => void;
}

/** Facets are open where there is room beside the list. */
export function useFacetsOpen(): FacetsOpen {
  const isDrawer = useMedia("(width < 1000px)");
  const [isDrawn, setDrawn] = useState(false);
  const [isBeside, setBeside] = useState(true);
  return isDrawer
    ? { isDrawer, isOpen: isDrawn, open: setDrawn }
    : { isDrawer, isOpen: isBeside, open: setBeside };
}

/** Facets beside the list, or over it. */
export function FacetPanel({ facets, ...rest }: FacetColumnProps & { readonly facets: FacetsOpen }) {
  const column = <FacetColumn {...rest} />;
  if (!facets.isDrawer) return <aside aria-label="Filter">{column}</aside>;
  return (
    <Dialog label="Filter" className="drawer" onClose={() => facets.open(false)}>
      <button onClick={() => facets.open(false)}>Close</button>
      {column}
    </Dialog>
  );
}
