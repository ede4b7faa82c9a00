"""From examples to (target, prototypes): which training pairs could have given each training pair."""
