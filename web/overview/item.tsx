import type { ReactNode } from "react";

interface ItemProps {
  readonly sign: ReactNode;
  readonly kind?: "failed" | "live" | "dim";
  readonly href: string;
  readonly link: ReactNode;
  readonly children: ReactNode;
}

/** A line of a list: a sign, what it is, and where it leads. */
export function Item({ sign, kind, href, link, children }: ItemProps) {
  return (
    <li>
      <span className={`sign ${kind ?? ""}`}>{sign}</span>
      <span>{children}</span>
      <a href={href}>{link}</a>
    </li>
  );
}
