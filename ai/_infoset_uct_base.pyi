from tavolata.ai.search import Searcher

class Loop(Searcher):
    whole_match: bool
