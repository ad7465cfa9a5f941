#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes friends.txt: who calls whom a friend in a made-up town of 240 people. Same bytes on every run.

    python3 datasets/make_friends.py > datasets/friends.txt

The town has 12 clubs of 20. People mostly befriend members of their own club, some acquaintances of friends, and a few
strangers; six people are known all over town. A friendship is mostly, not always, returned.
"""

PEOPLE, CLUBS = 240, 12


class Dice:
    """A linear congruential generator (Knuth's MMIX constants), so that no library's changes can change the file."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def club_member(dice, club):
    return 1 + club + CLUBS * dice.below(PEOPLE // CLUBS)


def make_edges(seed=2017):
    dice = Dice(seed)
    friends = {person: set() for person in range(1, PEOPLE + 1)}

    def befriend(a, b, returned_in_ten):
        if a != b:
            friends[a].add(b)
            if dice.below(10) < returned_in_ten:
                friends[b].add(a)

    for person in friends:
        for _ in range(2 + dice.below(4)):
            befriend(person, club_member(dice, (person - 1) % CLUBS), 8)
        if dice.below(3) == 0:
            befriend(person, 1 + dice.below(PEOPLE), 5)
    for person in friends:  # friends of friends become friends
        for friend in sorted(friends[person])[:2]:
            known = sorted(friends[friend])
            if known and dice.below(4) == 0:
                befriend(person, known[dice.below(len(known))], 7)
    for star in (7, 42, 77, 113, 158, 201):
        for _ in range(18):
            befriend(1 + dice.below(PEOPLE), star, 2)
    return [(a, b) for a in sorted(friends) for b in sorted(friends[a])]


def main():
    edges = make_edges()
    print("# Who calls whom a friend: a made-up town, written by datasets/make_friends.py (Apache-2.0)")
    print(f"# Nodes: {PEOPLE} Edges: {len(edges)}")
    print("# FromNodeId\tToNodeId")
    for a, b in edges:
        print(f"{a}\t{b}")


if __name__ == "__main__":
    main()
