"""Models that are sums over columns: trees and linear models, read from a graph and seen by one person."""
